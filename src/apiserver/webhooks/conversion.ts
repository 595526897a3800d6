import {
  asJson,
  asUnstructured,
  formatApiVersion,
  isJsonObject,
  type JsonObject,
  type Random,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { CustomResourceDefinition } from '../crd/index.ts';
import type { WebhookClient } from './webhook-client.ts';

const timeoutMs = 30_000;

/** Converts an object to another version by the conversion webhook of its definition. */
export async function convertByWebhook(
  client: WebhookClient,
  random: Random,
  { crd, object, toVersion }: { crd: CustomResourceDefinition; object: UnstructuredObject; toVersion: string },
): Promise<UnstructuredObject> {
  const desiredAPIVersion = formatApiVersion(crd.spec.group, toVersion);
  const config = crd.spec.conversion?.webhook?.clientConfig ?? {};
  const uid = random.uuid();
  const fail = (text: string): Error =>
    statusError.internal(`conversion webhook for ${object.apiVersion}, Kind=${object.kind} failed: ${text}`);
  let answer: JsonObject;
  try {
    answer = await client.post(
      config,
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        request: { uid, desiredAPIVersion, objects: [asJson(object)] },
      },
      timeoutMs,
      `?timeout=${timeoutMs / 1000}s`,
    );
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error));
  }
  const response = isJsonObject(answer['response']) ? answer['response'] : {};
  const result = isJsonObject(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success') throw fail(String(result['message'] ?? 'no reason given'));
  if (response['uid'] !== uid) throw fail('the answer is for another request');
  const [converted] = Array.isArray(response['convertedObjects']) ? response['convertedObjects'] : [];
  if (!isJsonObject(converted)) throw fail('the answer holds no object');
  if (converted['apiVersion'] !== desiredAPIVersion)
    throw fail(`the answer is in version ${String(converted['apiVersion'])}`);
  const metadata = isJsonObject(converted['metadata']) ? converted['metadata'] : {};
  if (metadata['uid'] !== object.metadata.uid || metadata['name'] !== object.metadata.name) {
    throw fail('a conversion must not change the identity of an object');
  }
  // Webhooks may change only labels and annotations of the metadata.
  const { labels, annotations } = metadata;
  const kept = { ...object.metadata } as JsonObject;
  delete kept['labels'];
  delete kept['annotations'];
  return asUnstructured({
    ...converted,
    metadata: { ...kept, ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) },
  });
}
