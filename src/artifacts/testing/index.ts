// Test helpers: a loopback server that is registry and chart repository, and archives with any content.
export { type SeenRequest, TestArtifactServer, type TestLayer, type TestServerOptions } from './registry.ts';
export { packChart, type TarEntry, tar } from './tar.ts';
