// For tests: a server on loopback that is a registry and a repository, and archives of any content.
export { type SeenRequest, TestArtifactServer, type TestLayer, type TestServerOptions } from './registry.ts';
export { packChart, type TarEntry, tar } from './tar.ts';
