import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    slowTestThreshold: 10_000,
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          globalSetup: ['packages/server/src/store/testing/database-template.ts'],
          // Node loads the sources as it does in the product, from its cache of compiled code. Vite would transform each
          // module again in the process of each test file: 13 s of a processor for a small file of the server, 6 s without.
          experimental: { viteModuleRunner: false },
          // A test server leaves so much garbage that V8's default young generation of 16 MB is collected again and again.
          execArgv: ['--max-semi-space-size=64'],
          // A test that hangs ends; one on a busy machine is waited for.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          include: [
            'packages/{annotations,contract,slide,demo-slides,server}/src/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
        },
      },
      'packages/web/vite.config.ts',
    ],
  },
});
