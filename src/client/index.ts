// Public exports of the client room: clients and informers for a Kubernetes API.
export * from './abort.ts';
export * from './discovery.ts';
export * from './errors.ts';
export * from './http/client.ts';
export * from './http/port-forward.ts';
export type { HttpAnswer, HttpExchange, HttpRequest, RequestObservation, StreamResponse } from './http/transport.ts';
export * from './informer/index.ts';
export * from './kubeconfig/index.ts';
export * from './memory/memory-client.ts';
export * from './merge-patch.ts';
export * from './object-key.ts';
export * from './request-origin.ts';
export * from './resource-version.ts';
export * from './scoped-client.ts';
export * from './types.ts';
