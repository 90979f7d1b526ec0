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
