import type { Image, ImageStatus } from '../../../api/index.ts';
import { formatTime, withCondition } from '../../../machinery/index.ts';
import type { Image as CloudImage } from '../../../openstack/index.ts';
import { type ConditionStatus, conditionOf } from '../../shared/index.ts';

/** Reasons as set by the OpenStack Resource Controller. */
export type ImageReason = 'Progressing' | 'Success' | 'TransientError' | 'InvalidConfiguration' | 'UnrecoverableError';

export interface ImageState {
  readonly available: ConditionStatus;
  readonly reason: ImageReason;
  readonly message: string;
}

export const upToDate: ImageState = {
  available: 'True',
  reason: 'Success',
  message: 'OpenStack resource is up to date',
};

/** Reasons that are final until the spec or the cloud changes. */
const final: ReadonlySet<ImageReason> = new Set(['Success', 'InvalidConfiguration', 'UnrecoverableError']);

/** Sets both conditions: Available, and Progressing, which is True while further reconciles are scheduled. */
export function setState(draft: Image, state: ImageState, nowMs: number): void {
  const { reason, message } = state;
  put(draft, 'Progressing', final.has(reason) ? 'False' : 'True', { reason, message }, nowMs);
  const available =
    state.available === 'True'
      ? { reason: 'Success', message: 'OpenStack resource is available' }
      : { reason, message };
  put(draft, 'Available', state.available, available, nowMs);
}

/** Sets the download state of images with content. */
export function setDownloading(
  draft: Image,
  status: 'True' | 'False',
  said: { readonly reason: ImageReason; readonly message: string },
  nowMs: number,
): void {
  put(draft, 'Downloading', status, said, nowMs);
}

export const isDownloading = (image: Image): boolean => conditionOf(image, 'Downloading')?.status === 'True';

function put(
  draft: Image,
  type: string,
  status: ConditionStatus,
  { reason, message }: { readonly reason: string; readonly message: string },
  nowMs: number,
): void {
  const { generation } = draft.metadata;
  const condition = {
    type,
    status,
    reason,
    message: message.slice(0, maxMessageLength),
    lastTransitionTime: formatTime(nowMs),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  const next = withCondition(draft.status?.conditions, condition, nowMs);
  if (next !== draft.status?.conditions) draft.status = { ...draft.status, conditions: [...next] };
}

const maxMessageLength = 2000;

/** Copies the observed image to the status. */
export function observed(draft: Image, image: CloudImage | undefined): void {
  const { id: _, resource: __, ...rest } = draft.status ?? {};
  draft.status = image ? { ...rest, id: image.id, resource: resourceOf(image) } : rest;
}

const algorithms: readonly string[] = ['md5', 'sha1', 'sha256', 'sha512'];

function resourceOf({
  name,
  status,
  visibility,
  hash,
  size,
  virtualSize,
  tags,
  ...image
}: CloudImage): NonNullable<ImageStatus['resource']> {
  const isKnown = hash !== undefined && algorithms.includes(hash.algorithm);
  return {
    name,
    status,
    protected: image.protected,
    visibility,
    ...(isKnown && { hash: { algorithm: hash.algorithm as 'sha512', value: hash.value } }),
    ...(size !== undefined && { sizeB: size }),
    ...(virtualSize !== undefined && { virtualSizeB: virtualSize }),
    ...(tags.length > 0 && { tags: [...tags].sort() }),
  };
}
