import { formatImage, type HostedControlPlaneSpec, type HostedImage, parseImage } from '../../../api/index.ts';
import { kubernetesImages, type PlaneImages } from '../../../hosting/index.ts';

const etcdImage = 'registry.k8s.io/etcd:3.6.5-0';

/** Builds the images of a plane: the defaults of the version with the user's overrides applied. */
export function imagesOf(version: string, spec: HostedControlPlaneSpec): PlaneImages {
  const usual = kubernetesImages(version);
  const { apiServer, controllerManager, scheduler } = spec.deployment ?? {};
  return {
    apiServer: overridden(usual.apiServer, apiServer?.image),
    controllerManager: overridden(usual.controllerManager, controllerManager?.image),
    scheduler: overridden(usual.scheduler, scheduler?.image),
    konnectivityServer: overridden(usual.konnectivityServer, apiServer?.konnectivity?.image),
    konnectivityAgent: overridden(usual.konnectivityAgent, spec.konnectivityClient?.image),
    coreDns: overridden(usual.coreDns, spec.coredns?.image),
    kubeProxy: overridden(usual.kubeProxy, spec.kubeProxy?.image),
    etcd: overridden(etcdImage, spec.etcd?.image),
  };
}

function overridden(image: string, desired: HostedImage | undefined): string {
  if (!desired) return image;
  const { repository: whole, tag } = parseImage(image);
  const slash = whole.indexOf('/');
  const registry = desired.registry || whole.slice(0, slash);
  const path = desired.repository || whole.slice(slash + 1);
  const shownTag = desired.tag || tag;
  return formatImage({ repository: `${registry}/${path}`, ...(shownTag !== undefined && { tag: shownTag }) });
}
