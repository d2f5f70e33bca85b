import { defineConfig } from 'vite'

// The server's policy (server/program/site/console.ts) allows files only: nothing is inline.
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
