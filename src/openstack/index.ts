// Public interface of the openstack room: the client for OpenStack clouds, independent of Kubernetes.
export type { Compute } from './compute/compute.ts';
export type { Flavor, FlavorFilter, Flavors } from './compute/flavors.ts';
export type { Keypair, KeypairSpec, Keypairs } from './compute/keypairs.ts';
export type { ComputeLimits } from './compute/limits.ts';
export type { ServerGroup, ServerGroupPolicy, ServerGroupSpec, ServerGroups } from './compute/server-groups.ts';
export type { Servers } from './compute/servers/servers.ts';
export type * from './compute/servers/types.ts';
export type * from './config/cloud-config.ts';
export type { Environment } from './config/environment.ts';
export { CloudConfigError } from './config/errors.ts';
export type { ConfigPlaces } from './config/files.ts';
export { type CloudChoice, type Clouds, type CloudText, cloudFromText, loadClouds } from './config/load.ts';
export type { ServiceType } from './config/service-types.ts';
export {
  isNotFound,
  isOpenStackError,
  OpenStackError,
  type OpenStackErrorKind,
  orUndefined,
} from './errors/openstack-error.ts';
export { Answer } from './http/answer.ts';
export type { RequestObservation } from './http/exchange.ts';
export type { Log } from './http/log.ts';
export type { Query } from './http/query.ts';
export type { Patience } from './http/retry.ts';
export type { Call, CallOptions, ServiceClient } from './http/service-client.ts';
export type {
  ApplicationCredential,
  ApplicationCredentialSpec,
  ApplicationCredentials,
} from './identity/application-credentials.ts';
export type { Catalogue, CatalogueEndpoint, CatalogueService } from './identity/catalogue.ts';
export type { Identity, Project } from './identity/identity.ts';
export type { TokenInfo } from './identity/token.ts';
export type { ImageService } from './image/image.ts';
export type { Image, ImageFilter, ImageSpec, Images, ImageVisibility } from './image/images.ts';
export type * from './load-balancer/health-monitors.ts';
export * from './load-balancer/listeners.ts';
export type { LoadBalancerService } from './load-balancer/load-balancer.ts';
export type {
  LoadBalancer,
  LoadBalancerChanges,
  LoadBalancerFilter,
  LoadBalancerSpec,
  LoadBalancerStats,
  LoadBalancers,
} from './load-balancer/load-balancers.ts';
export type { Member, MemberChanges, MemberFilter, MemberSpec, Members } from './load-balancer/members.ts';
export type { LoadBalancerFlavor, LoadBalancerFlavors, Offer } from './load-balancer/offers.ts';
export type { Pool, PoolChanges, PoolFilter, PoolSpec, Pools } from './load-balancer/pools.ts';
export type { CommonFilter as NetworkCommonFilter, NetworkResource, Tags } from './network/common.ts';
export type { Extensions } from './network/extensions.ts';
export type {
  FloatingIp,
  FloatingIpChanges,
  FloatingIpFilter,
  FloatingIpSpec,
  FloatingIps,
} from './network/floating-ips.ts';
export type { NetworkService } from './network/network.ts';
export type { Network, NetworkChanges, NetworkFilter, NetworkSpec, Networks } from './network/networks.ts';
export type { Ports } from './network/ports/ports.ts';
export type * from './network/ports/types.ts';
export type {
  GatewaySpec,
  InterfaceResult,
  Router,
  RouterChanges,
  RouterFilter,
  RouterGateway,
  RouterInterface,
  RouterSpec,
  Routers,
} from './network/routers.ts';
export type {
  RuleDirection,
  SecurityGroupRule,
  SecurityGroupRuleFilter,
  SecurityGroupRuleSpec,
  SecurityGroupRules,
} from './network/security-group-rules.ts';
export type {
  SecurityGroup,
  SecurityGroupChanges,
  SecurityGroupSpec,
  SecurityGroups,
} from './network/security-groups.ts';
export type {
  AddressRange,
  HostRoute,
  Subnet,
  SubnetChanges,
  SubnetFilter,
  SubnetSpec,
  Subnets,
} from './network/subnets.ts';
export type { Subport, Trunk, TrunkChanges, TrunkFilter, TrunkSpec, Trunks } from './network/trunks.ts';
export { createObserver, type Observer, type ObserverOptions } from './observation/observer.ts';
export { createObserverPool, type ObserverPool, type ObserverPoolOptions } from './observation/observer-pool.ts';
export type { Pace } from './observation/pace.ts';
export type { ObservationFilters } from './observation/sources.ts';
export * from './observation/types.ts';
export { type ConnectOptions, connect, type OpenStack } from './openstack.ts';
export type { CloudChange, RehearsedType, RehearsedTypes } from './rehearsal/changes.ts';
export { isRehearsedAddress, type RehearsedCloud, rehearse } from './rehearsal/rehearse.ts';
export type { AvailabilityZone, AvailabilityZones } from './resource/availability-zones.ts';
export type { Collection, Creatable, Deletable, Readable, Updatable } from './resource/collection.ts';
export { collect, type ListOptions } from './resource/pages.ts';
export { type Quota, type Quotas, quotaLeft } from './resource/quotas.ts';
export { createSessionPool, type SessionPool, type SessionPoolOptions } from './session-pool.ts';
export type { Transport, TransportRequest, TransportResponse } from './transport/types.ts';
export { type HttpTransportOptions, httpTransport, type TlsSettings } from './transport/undici.ts';
export type { VolumeService } from './volume/volume.ts';
export type { VolumeType, VolumeTypes } from './volume/volume-types.ts';
export type { Volume, VolumeChanges, VolumeFilter, VolumeSpec, Volumes } from './volume/volumes.ts';
