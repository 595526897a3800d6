#!/usr/bin/env -S node --max-semi-space-size=64 --v8-pool-size=0
// Requests in flight outlive a small young generation, and collecting them later costs a quarter of every write. As many helper
// threads as there are cores beside the one that works (0), instead of always four: on two cores these compile against it.
import('../dist/main.js').catch((error) => {
  if (error?.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).includes('dist')) {
    console.error('capstan is not built yet: run "npm install" in its directory first');
    process.exit(1);
  }
  throw error;
});
