import { kubectl, readKubeconfig } from '../../../simkube/index.ts';
import type { Program } from '../types.ts';
import { connectWith } from './connect.ts';

/** kubectl on a machine, used by user data to apply manifests to a new cluster. */
export const kubectlProgram: Program = (machine, args, caller) =>
  kubectl(args, {
    files: machine.disk,
    env: caller?.env ?? {},
    input: caller?.input ?? '',
    out: (line) => machine.console.write(`${line}\n`),
    connect(path) {
      const text = machine.disk.read(path);
      const facts = text === undefined ? undefined : readKubeconfig(text, machine.disk);
      if (!facts) throw new Error(`stat ${path}: no such file or directory`);
      const { client, reached } = connectWith(machine, facts);
      return { client, cluster: reached.cluster };
    },
  });
