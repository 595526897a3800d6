import {
  type LatticeMachineSettings,
  type LatticeSettings,
  type OpenStackMachineSpec,
  type OpenStackMachineTemplate,
  OpenStackMachineTemplates,
} from '../../../api/index.ts';
import { type ExpandedObject, type Maker, templateName } from './naming.ts';

/** Builds the machine template of a control plane or pool. Availability zones are set on the Machine, not here. */
export function machineTemplate(
  maker: Maker,
  settings: LatticeSettings,
  machines: LatticeMachineSettings,
  { base, pool }: { base: string; pool?: string },
): ExpandedObject {
  const { rootVolume } = machines;
  const server: OpenStackMachineSpec = {
    flavor: { filter: { name: machines.flavor } },
    image: { filter: { name: settings.image } },
    sshKeyName: settings.sshKey,
    ...(rootVolume && {
      rootVolume: { sizeGiB: rootVolume.sizeGb, ...(rootVolume.type !== undefined && { type: rootVolume.type }) },
    }),
  };
  const spec: OpenStackMachineTemplate['spec'] = { template: { spec: server } };
  return maker.make(OpenStackMachineTemplates, templateName(base, spec), { spec }, pool);
}
