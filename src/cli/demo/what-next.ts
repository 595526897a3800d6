export interface DemoPlaces {
  readonly cluster: string;
  readonly kubeconfig: string;
  readonly workloadKubeconfig: string;
  readonly cloudsYaml: string | undefined;
}

/** Suggests commands to try on a demo. */
export function whatNext({ cluster, kubeconfig, workloadKubeconfig, cloudsYaml }: DemoPlaces): string {
  const lines = [
    'Try in another terminal:',
    '',
    `  export KUBECONFIG=${kubeconfig}                      # the management API`,
    '  kubectl get clusters,machines,pods',
    `  capstan describe cluster ${cluster}`,
    `  kubectl scale machinedeployment ${cluster}-md-0 --replicas 3`,
    '',
    `  kubectl --kubeconfig ${workloadKubeconfig} get nodes -o wide   # the cluster itself`,
    ...(cloudsYaml === undefined
      ? []
      : [
          '',
          `  export OS_CLIENT_CONFIG_FILE=${cloudsYaml} OS_CLOUD=openstack   # the simulated cloud`,
          '  openstack server list',
        ]),
    '',
    'Ctrl-C ends the demo and removes everything.',
    '',
  ];
  return lines.join('\n');
}
