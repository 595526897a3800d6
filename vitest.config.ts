import { defineConfig } from 'vitest/config';

/** Whole clusters, on machines and in Pods: each is enough for a computer, so there is one at a time. */
const clusters = [
  'test/e2e/add-ons',
  'test/e2e/cloud-verbs',
  'test/e2e/demo',
  'test/e2e/guide-000',
  'test/e2e/guide-001',
  'test/e2e/guide-002',
  'test/e2e/guide-003',
  'test/e2e/guide-004',
  'test/e2e/guides',
  'test/e2e/hosted',
  'test/e2e/move',
  'test/e2e/podhost',
  'test/e2e/topology',
  'test/e2e/real-kubernetes',
  'test/e2e/vm-cluster',
  'test/e2e/whole-life',
  'test/e2e/workers',
  'test/tenancy/crossing',
].map((name) => `${name}{/**/*,}.test.ts`);

const setupFiles = ['test/support/property-seed.ts', 'test/support/patience.ts'];

/** Objects of the store are immutable: a test that changes one fails. */
const env = { CAPSTAN_FREEZE_OBJECTS: '1' };

/** Through the real entrances, one file after the other: each is a program under load. */
const throughEntrances = {
  setupFiles,
  env,
  expect: { poll: { timeout: 30_000 } },
  testTimeout: 120_000,
  // A real API server works on each of many definitions for a while.
  hookTimeout: process.env['CAPSTAN_E2E_MANAGEMENT'] === 'real-kubernetes' ? 400_000 : 120_000,
  fileParallelism: false,
  // Each concurrent test is a row of kubectl processes; more of them than this only wait for each other.
  maxConcurrency: 4,
};

export default defineConfig({
  test: {
    // What was transformed once is not transformed again by the next run: half of the CPU of a short one.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'],
          setupFiles,
          env,
          expect: { poll: { timeout: 30_000 } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Nothing in the rooms is global: loading them once instead of once per file saves most of the time.
          isolate: false,
        },
      },
      { test: { name: 'e2e', include: ['test/**/*.test.ts'], exclude: clusters, ...throughEntrances } },
      { test: { name: 'clusters', include: clusters, ...throughEntrances } },
    ],
  },
});
