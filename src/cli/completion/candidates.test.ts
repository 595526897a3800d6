import { describe, expect, it } from 'vitest';
import { buildProgram } from '../program.ts';
import { candidates, type LiveValues } from './candidates.ts';

const live: LiveValues = {
  clusters: async ({ given }) => (given.get('--namespace') === 'team-a' ? ['blue', 'black'] : ['red']),
  namespaces: async () => ['default', 'team-a'],
  contexts: async () => ['capstan', 'prod'],
  clouds: async () => ['openstack', 'admin'],
};
const program = buildProgram(() => {});
const pressed = (...line: string[]): Promise<readonly string[]> => candidates(program, line, live);

describe('completion', () => {
  it.each<[string[], string[]]>([
    [['des'], ['describe']],
    [['describe', ''], ['cluster']],
    [['describe', 'cluster', ''], ['red']],
    [['describe', 'cluster', 'red', ''], []],
    [
      ['get', 'kubeconfig', '-n', 'team-a', 'b'],
      ['blue', 'black'],
    ],
    [
      ['get', 'kubeconfig', '--namespace=team-a', 'bl'],
      ['blue', 'black'],
    ],
    [['delete', ''], ['cluster']],
    [['delete', 'cluster', '-n', 'team-a', 'blue', ''], ['black']],
    [['get', 'clusters', '-n', 't'], ['team-a']],
    [
      ['get', 'clusters', '--context', ''],
      ['capstan', 'prod'],
    ],
    [['get', 'clusters', '--context=p'], ['--context=prod']],
    // Split as by bash, which replaces only the value.
    [['get', 'clusters', '--context', '=', 'p'], ['prod']],
    [['get', 'clusters', '-o', 'j'], ['json']],
    [
      ['demo', '--flavor', ''],
      ['k0smotron', 'kamaji', 'hosted'],
    ],
    [['doctor', '--cloud', 'o'], ['openstack']],
    [
      ['up', '--pods', ''],
      ['simulated', 'none'],
    ],
    [['up', '--oidc-i'], ['--oidc-issuer-url']],
    [['up', '--log-level', 'd'], ['debug']],
    [['completion', 'z'], ['zsh']],
    [['restore', ''], [':files']],
    [['up', '--data-dir', ''], [':files']],
    [['apply', '-f', ''], [':files']],
    [['nonsense', ''], []],
  ])('of %j suggests %j', async (line, expected) => {
    expect(await pressed(...line)).toEqual(expected);
  });

  it('suggests the commands first', async () => {
    const words = await pressed('');
    expect(words).toEqual(expect.arrayContaining(['up', 'demo', 'apply', 'backup']));
    expect(words.filter((word) => word.startsWith('_'))).toEqual([]);
  });
});
