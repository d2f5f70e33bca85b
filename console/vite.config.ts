import { defineConfig } from 'vite'

// Without a policy of its own for scripts and styles the browser would take more than the server sends (server/site/console.ts):
// everything is a file, nothing is inline.
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: 'dist',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    // Libraries mark what servers must not render; nothing of this is rendered by one.
    rolldownOptions: { checks: { unsupportedFeature: false } },
  },
  server: {
    // `npm run dev`: the screens from here, everything else from the program.
    proxy: { '^/(?!console/)': { target: `http://127.0.0.1:${process.env['HELIOGRAM_PORT'] ?? '8080'}` } },
  },
})
