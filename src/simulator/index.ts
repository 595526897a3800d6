// Public interface of the simulator: a simulated OpenStack, over HTTP or in process, on the real or a simulated clock.
export { adminPrefix } from './admin/api.ts';
export type { Operator } from './admin/operator.ts';
export { type CloudOptions, createCloud, type MachinesOptions, type SimulatedCloud } from './cloud.ts';
export { type CloudsYamlOptions, renderCloudsYaml } from './clouds-yaml.ts';
export type { Console, Machine, MachineHost, PortView } from './core/contracts.ts';
export { parseFaultRule } from './core/faults/parse-rule.ts';
export type { FaultEffect, FaultRule, FaultSelector } from './core/faults/rule.ts';
export type { CloudListener, ListenOptions } from './core/http/listener.ts';
export type { Transport, WireRequest, WireResponse } from './core/http/wire.ts';
export type { Timing } from './core/timings.ts';
export type { Machines } from './machines/host/machine-host.ts';
export { connectInProcess } from './machines/in-process.ts';
export type { Outside } from './machines/network/dial.ts';
export type * from './machines/types.ts';
export { type CloudTls, ensureCloudTls } from './tls.ts';
export { defaultWorld } from './world/default-world.ts';
export type { CloudSecrets } from './world/secrets.ts';
export type * from './world/world.ts';
