import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Fills in, while developing, what the server writes into the page for each deployment. */
function developmentSettings(): Plugin {
  const productName = process.env.PRODUCT_NAME ?? 'Lamina';
  const signIn = { embedded: true, external: null };
  const settings = JSON.stringify({ productName, tokenSyncUrl: null, signIn });
  return {
    name: 'development-settings',
    apply: 'serve',
    transformIndexHtml: (page) =>
      page
        .replace('__SETTINGS__', () => escapeHtml(settings))
        .replace('__PRODUCT_NAME__', () => escapeHtml(productName)),
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export default defineConfig({
  plugins: [react(), developmentSettings()],
  server: {
    proxy: { '/api': `http://127.0.0.1:${process.env.API_PORT ?? '3000'}` },
  },
  build: {
    // The content security policy allows fonts and pictures from the server alone, not as data addresses.
    assetsInlineLimit: 0,
    // The app is one file and the viewer another: both above the size that Vite advises by default.
    chunkSizeWarningLimit: 1000,
  },
  test: {
    name: 'web',
    environment: 'jsdom',
    // One browser-like world per worker, not one per file.
    pool: 'vmThreads',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    testTimeout: 20_000,
  },
});
