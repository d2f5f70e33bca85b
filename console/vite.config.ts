import { defineConfig } from 'vite'

// The server's policy (server/program/site/console.ts) allows files only: nothing is inline.
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // Which files a screen needs, for the test of their size.
    manifest: true,
    target: 'es2022',
    // The first browsers with `light-dark()`.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
