// Public exports of the artifacts room: charts, OCI artifacts and files by HTTPS, verified by digest and cached.
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
