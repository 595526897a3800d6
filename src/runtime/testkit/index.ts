// Second public interface of the room, for tests only.
export { type MemoryClient, type MemoryClientOptions, memoryClient, type RecordedRequest } from '../../client/index.ts';
export * from './counting-client.ts';
export * from './eventually.ts';
export * from './faulty-client.ts';
