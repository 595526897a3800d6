import { storeConformance } from './conformance.ts';
import { memoryEngine } from './memory-engine.ts';

storeConformance('memory', {
  create: async () => memoryEngine(),
  reopen: async (engine) => engine,
});
