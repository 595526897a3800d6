import { type CustomResourceDefinition, CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { certManagerGroup } from '../../controllers/index.ts';
import { isAlreadyExists } from '../../machinery/index.ts';

function definition(kind: string, scope: 'Namespaced' | 'Cluster', shortNames: string[]): CustomResourceDefinition {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${certManagerGroup}` },
    spec: {
      group: certManagerGroup,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: ['cert-manager'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: 'Known for manifests of providers; selfSigned and ca issuers are built in.',
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
        },
      ],
    },
  };
}

const definitions: readonly CustomResourceDefinition[] = [
  definition('Certificate', 'Namespaced', ['cert', 'certs']),
  definition('Issuer', 'Namespaced', []),
  definition('ClusterIssuer', 'Cluster', []),
];

/** Serves the cert-manager kinds for certificates in provider manifests, unless they already exist. */
export async function ensureCertManagerKinds(client: Client, signal: AbortSignal): Promise<void> {
  for (const one of definitions) {
    await client.create(CustomResourceDefinitions, one, { fieldManager: 'capstan', signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}
