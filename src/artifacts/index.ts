// The door of the artifacts room: charts from repositories and registries, artifacts of OCI registries, files by HTTPS; checked
// against their digests and kept in a cache.
export {
  type Artifacts,
  type ArtifactsOptions,
  type ChartRequest,
  createArtifacts,
  type Download,
  type DownloadOptions,
  type FetchedChart,
} from './artifacts.ts';
export type { Credentials } from './credentials.ts';
export type { Digest } from './digest.ts';
export { ArtifactError, type ArtifactErrorReason } from './errors.ts';
export type { ArtifactLayer, PulledArtifact, Registry } from './registry.ts';
