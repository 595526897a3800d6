import { statusError } from '../../machinery/index.ts';
import { getRecord } from '../service/reads.ts';
import { checkNodeExists, chooseContainer, nodeOf } from './pod-location.ts';
import type { SubresourceAnswer, SubresourceHandler, SubresourceRequest } from './types.ts';

/** pods/x/exec and pods/x/attach: a stream to one container. */
export const handlePodContainerStream: SubresourceHandler = (request) =>
  refuse(request, (pod) => {
    chooseContainer(pod, request.query.get('container') ?? '');
  });

/** pods/x/portforward: a stream to ports of the pod. */
export const handlePodPortForward: SubresourceHandler = (request) =>
  refuse(request, () => {
    const odd = request.query.getAll('ports').find((port) => !/^\d+$/.test(port));
    if (odd === undefined) return;
    throw statusError.badRequest(
      `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(odd)}: invalid syntax`,
    );
  });

/** Streams end at a kubelet. Without one there is nothing to connect to, and the reason is the one kube-apiserver gives. */
async function refuse(
  { context, target, caller }: SubresourceRequest,
  check: (pod: Parameters<typeof nodeOf>[0]) => void,
): Promise<SubresourceAnswer> {
  const pod = await target.resource.fromRecord(await getRecord(context, target, caller, {}));
  check(pod);
  const node = nodeOf(pod);
  if (node === '') throw statusError.badRequest(`pod ${target.name} does not have a host assigned`);
  checkNodeExists(context, node);
  throw statusError.serviceUnavailable(`this server cannot reach the kubelet of node ${node}`);
}
