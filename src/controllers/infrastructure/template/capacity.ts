import type { OpenStackMachineSpec, OpenStackMachineTemplateStatus } from '../../../api/index.ts';
import type { Flavor, Image } from '../../../openstack/index.ts';

/** Computes the capacity of a Node made from a template, for scale-from-zero of the cluster autoscaler. */
export function offerOf(
  spec: Pick<OpenStackMachineSpec, 'rootVolume'>,
  flavor: Pick<Flavor, 'vcpus' | 'ram' | 'disk' | 'ephemeral'>,
  image: Pick<Image, 'properties'>,
): Pick<OpenStackMachineTemplateStatus, 'capacity' | 'nodeInfo'> {
  const operatingSystem = image.properties['os_type'];
  return {
    capacity: {
      cpu: String(flavor.vcpus),
      memory: mebibytes(flavor.ram),
      'ephemeral-storage': gibibytes(flavor.ephemeral),
      storage: gibibytes(spec.rootVolume?.sizeGiB ?? flavor.disk),
    },
    ...(operatingSystem !== undefined && operatingSystem !== '' && { nodeInfo: { operatingSystem } }),
  };
}

function gibibytes(count: number): string {
  return count === 0 ? '0' : `${count}Gi`;
}

/** Formats a Quantity canonically, with the largest unit that needs no fraction. */
function mebibytes(count: number): string {
  return count % 1024 === 0 ? gibibytes(count / 1024) : `${count}Mi`;
}
