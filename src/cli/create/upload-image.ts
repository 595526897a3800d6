import { createHash, getHashes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CapstanError, type Clock, errorMessage, sleep } from '../../machinery/index.ts';
import type { Image, ImageSpec, Images } from '../../openstack/index.ts';

export interface Upload {
  readonly images: Images;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onProgress?(sent: number, total: number): void;
}

const pollMs = 1_000;
/** Default hash algorithm of most clouds; others are computed afterwards. */
const usualAlgorithm = 'sha512';

/** Creates an image from a file. An incomplete image is deleted. */
export async function uploadImage(upload: Upload, spec: ImageSpec, path: string): Promise<Image> {
  const { images, signal } = upload;
  const { size: total } = await stat(path);
  await refuseDouble(images, spec.name, signal);
  const made = await images.create(spec, { signal });
  try {
    const usual = createHash(usualAlgorithm);
    const older = createHash('md5');
    let sent = 0;
    await images.upload(made.id, content(), { signal });
    const image = await untilStored(upload, made.id);
    const expected = {
      [usualAlgorithm]: usual.digest('hex'),
      md5: older.digest('hex'),
    };
    if (sent !== total) throw damaged(`${path} changed while it was read`);
    await checkStored(image, { path, size: total, digests: expected });
    return image;

    async function* content(): AsyncGenerator<Uint8Array> {
      for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal }) as AsyncIterable<Buffer>) {
        usual.update(chunk);
        older.update(chunk);
        yield chunk;
        sent += chunk.length;
        upload.onProgress?.(sent, total);
      }
    }
  } catch (error) {
    // Runs after an interruption, too, so it does not use the signal.
    const left = await images.delete(made.id).then(
      () => undefined,
      (failure: unknown) => errorMessage(failure),
    );
    if (left === undefined) throw error;
    throw new CapstanError(
      'CAP_IMAGE_CONTENT',
      `${errorMessage(error)}; and the image ${made.id}, which is incomplete, cannot be deleted: ${left}`,
      { cause: error },
    );
  }
}

/** Two images with the same name would make manifests ambiguous. */
async function refuseDouble(images: Images, name: string, signal: AbortSignal): Promise<void> {
  for await (const { id, status } of images.list({ name }, { signal })) {
    const hint =
      status === 'queued'
        ? `an upload is running or was interrupted: delete ${id} if nobody is uploading, or choose another name`
        : 'choose another name: manifests that name it would not know which one is meant';
    throw new CapstanError('CAP_OPENSTACK_CONFLICT', `the cloud has an image "${name}" (${id}, ${status})`, { hint });
  }
}

/** Some image stores need time after the last byte. */
async function untilStored({ images, clock, signal }: Upload, id: string): Promise<Image> {
  for (;;) {
    const image = await images.get(id, { signal });
    if (image.status === 'active') return image;
    if (image.status !== 'saving' && image.status !== 'importing') {
      throw damaged(`the cloud did not take the content: the image is ${image.status}`);
    }
    await sleep(clock, pollMs, signal);
  }
}

interface Content {
  readonly path: string;
  readonly size: number;
  readonly digests: Readonly<Record<string, string>>;
}

/** Verifies that the cloud stored exactly the bytes of the file. */
async function checkStored(image: Image, { path, size, digests }: Content): Promise<void> {
  if (image.size !== undefined && image.size !== size) {
    throw damaged(`the cloud has ${image.size} bytes of ${path}, which has ${size}`);
  }
  const { hash, checksum } = image;
  const [algorithm, stored] = hash ? [hash.algorithm, hash.value] : ['md5', checksum];
  if (stored === undefined) return;
  const own = digests[algorithm] ?? (await digestOf(path, algorithm));
  if (own !== undefined && own !== stored)
    throw damaged(`the cloud has another content than ${path}: its ${algorithm} differs`);
}

async function digestOf(path: string, algorithm: string): Promise<string | undefined> {
  if (!getHashes().includes(algorithm)) return undefined;
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex');
}

function damaged(message: string): CapstanError {
  return new CapstanError('CAP_IMAGE_CONTENT', message, { hint: 'try again; the incomplete image was deleted' });
}
