import type { TemplateMetadata, TenantControlPlane } from '../../../../api/index.ts';
import type { ExposureSpec, ExtraMetadata } from '../../../../hosting/index.ts';

const defaultPort = 6443;
const defaultKonnectivityPort = 8132;
const tlsPort = 443;

/** Builds the exposure of a control plane's API. */
export function exposureSpec({ spec, metadata }: TenantControlPlane): ExposureSpec {
  const { networkProfile = {}, controlPlane, addons } = spec;
  const { service, ingress, gateway } = controlPlane;
  const { address, advertiseAddress, loadBalancerClass, loadBalancerSourceRanges } = networkProfile;
  return {
    type: service.serviceType,
    apiPort: networkProfile.port ?? defaultPort,
    ...(addons?.konnectivity && { konnectivityPort: addons.konnectivity.server?.port ?? defaultKonnectivityPort }),
    ...(address && { address }),
    ...(advertiseAddress && { advertiseAddress }),
    ...(networkProfile.allowAddressAsExternalIP === true && { addressAsExternalIp: true }),
    ...(service.additionalMetadata && { metadata: metadataOf(service.additionalMetadata) }),
    ...(loadBalancerClass && { loadBalancerClass }),
    ...(loadBalancerSourceRanges && { loadBalancerSourceRanges }),
    ...(service.allocateLoadBalancerNodePorts !== undefined && {
      allocateLoadBalancerNodePorts: service.allocateLoadBalancerNodePorts,
    }),
    ...(service.additionalPorts && { additionalPorts: service.additionalPorts }),
    sans: networkProfile.certSANs ?? [],
    ...(ingress && { ingress: ingressSpec(ingress) }),
    ...(gateway && gatewaySpec(gateway, metadata.namespace ?? '')),
  };
}

const metadataOf = ({ labels, annotations }: TemplateMetadata): ExtraMetadata => ({
  ...(labels && { labels }),
  ...(annotations && { annotations }),
});

function ingressSpec({
  hostname = '',
  ingressClassName,
  additionalMetadata,
}: NonNullable<TenantControlPlane['spec']['controlPlane']['ingress']>): NonNullable<ExposureSpec['ingress']> {
  const { host, port } = hostAndPort(hostname);
  return {
    deploy: true,
    host,
    port,
    ...(ingressClassName && { className: ingressClassName }),
    ...(additionalMetadata && { metadata: metadataOf(additionalMetadata) }),
  };
}

function gatewaySpec(
  { hostname, parentRefs, additionalMetadata }: NonNullable<TenantControlPlane['spec']['controlPlane']['gateway']>,
  namespace: string,
): Pick<ExposureSpec, 'gateway'> {
  const [parent] = parentRefs ?? [];
  if (!parent) return {};
  return {
    gateway: {
      namespace: parent.namespace ?? namespace,
      name: parent.name,
      ...(parent.sectionName && { sectionName: parent.sectionName }),
      ...(parent.port !== undefined && { port: parent.port }),
      ...(hostname && { hostname }),
      ...(additionalMetadata && { metadata: metadataOf(additionalMetadata) }),
    },
  };
}

/** Parses `host` or `host:port`. The default port is 443, because TLS is passed through. */
export function hostAndPort(text: string): { host: string; port: number } {
  const [, host, port] = /^(.*):([0-9]+)$/.exec(text) ?? [];
  return host === undefined ? { host: text, port: tlsPort } : { host, port: Number(port) };
}
