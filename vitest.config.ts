import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          setupFiles: ['test/support/property-seed.ts'],
          testTimeout: 60_000,
          // Nothing in the rooms is global: loading them once instead of once per file saves most of the time.
          isolate: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          setupFiles: ['test/support/property-seed.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          // Each concurrent test is a row of kubectl processes; more of them than this only wait for each other.
          maxConcurrency: 4,
        },
      },
    ],
  },
});
