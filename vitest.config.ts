import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    slowTestThreshold: 10_000,
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          include: ['packages/{contract,slide,server}/src/**/*.test.ts', 'scripts/**/*.test.mjs'],
        },
      },
      'packages/web/vite.config.ts',
    ],
  },
});
