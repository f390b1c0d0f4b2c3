import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Publishing and serving thousands of skills takes its time on two cores.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The pinned SDK runs on Node 20; its advance notice would hide real warnings.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
});
