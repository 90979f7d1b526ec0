import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          include: ['packages/{contract,slide,server}/src/**/*.test.ts', 'scripts/**/*.test.mjs'],
        },
      },
      { test: { name: 'web', environment: 'jsdom', include: ['packages/web/src/**/*.test.{ts,tsx}'] } },
    ],
  },
});
