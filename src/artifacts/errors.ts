import { CapstanError, type ErrorCode } from '../machinery/index.ts';

export type ArtifactErrorReason = 'unreachable' | 'refused' | 'notFound' | 'digest' | 'tooLarge' | 'invalid' | 'peer';

const codes: Readonly<Record<ArtifactErrorReason, ErrorCode>> = {
  unreachable: 'CAP_ARTIFACT_UNREACHABLE',
  refused: 'CAP_ARTIFACT_REFUSED',
  notFound: 'CAP_ARTIFACT_NOT_FOUND',
  digest: 'CAP_ARTIFACT_DIGEST',
  tooLarge: 'CAP_ARTIFACT_TOO_LARGE',
  invalid: 'CAP_ARTIFACT_INVALID',
  peer: 'CAP_PEER_REFUSED',
};

/** A chart, image or file could not be fetched. The message contains no credentials; the hint suggests a solution. */
export class ArtifactError extends CapstanError {
  readonly reason: ArtifactErrorReason;

  constructor(reason: ArtifactErrorReason, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(codes[reason], message, options);
    this.name = 'ArtifactError';
    this.reason = reason;
  }

  /** Tells whether a retry may succeed without any change. */
  get isTransient(): boolean {
    return this.reason === 'unreachable';
  }
}
