import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Publishing and serving thousands of skills takes its time on two cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
