import { CapstanError, formatJson, formatYaml, systemRandom } from '../../machinery/index.ts';
import { beginAdoption, carryOutAdoption, type AdoptOptions as EngineOptions } from '../adopt/adopt.ts';
import { readAdoption } from '../adopt/record.ts';
import { releaseAdoption } from '../adopt/release.ts';
import { surveyText, surveyValue } from '../adopt/report.ts';
import { type Survey, takeSurvey } from '../adopt/survey.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { installation } from '../install/installation.ts';
import { refuseEmbedded } from '../install/second-installation.ts';
import { requireSupportedKubernetes } from '../server-version.ts';
import { parseReplicas } from './install.ts';

export interface AdoptOptions extends Omit<ConnectionOptions, 'namespace'> {
  image?: string;
  registry?: string;
  replicas: string;
  /** commander's name for `--no-controllers` */
  controllers: boolean;
  release?: boolean;
  dryRun?: boolean;
  output?: 'text' | 'json' | 'yaml';
  yes?: boolean;
}

/** Adopts clusters from upstream's controllers in the same Kubernetes, or releases them. */
export async function adopt(options: AdoptOptions, context: CommandContext): Promise<number> {
  if (options.release && options.dryRun)
    throw new CapstanError('CAP_USAGE', '--release and --dry-run exclude each other');
  if (options.output !== undefined && !options.dryRun) throw new CapstanError('CAP_USAGE', '--output is for --dry-run');
  return await withConnection(options, context, async (connection) => {
    const engine = engineOf(options, connection, context);
    return options.release
      ? await release(engine, connection, options, context)
      : await takeOver(engine, connection, options, context);
  });
}

function engineOf(options: AdoptOptions, { client, mapper }: Connection, context: CommandContext): EngineOptions {
  const { image, registry, controllers } = options;
  return {
    client,
    mapper,
    clock: context.clock,
    signal: context.signal,
    onProgress: (line) => context.stderr(`${line}\n`),
    installation: installation({
      replicas: parseReplicas(options.replicas),
      ...(image !== undefined && { image }),
      ...(registry !== undefined && { registry }),
    }),
    withControllers: controllers,
  };
}

async function takeOver(
  engine: EngineOptions,
  connection: Connection,
  options: AdoptOptions,
  context: CommandContext,
): Promise<number> {
  const { client, signal, clock } = engine;
  await refuseEmbedded(connection, signal);
  await requireSupportedKubernetes(connection, signal);
  let record = await readAdoption(client, signal);
  if (record?.phase === 'releasing') {
    throw new CapstanError('CAP_ADOPTION', 'a take-over is being reverted', {
      hint: 'finish it with `capstan adopt --release`, then start again',
    });
  }
  if (record?.phase === 'adopted') {
    context.stderr(
      `everything in ${connection.where} is taken over already; \`capstan install\` upgrades, --release gives it back\n`,
    );
    return 0;
  }
  if (!record) {
    const survey = await takeSurvey(connection, engine.installation, { clock, random: systemRandom, signal });
    if (options.dryRun) {
      show(survey, options, context);
      return survey.obstacles.length === 0 ? 0 : 1;
    }
    context.stderr(surveyText(survey));
    if (survey.obstacles.length > 0) {
      const [first] = survey.obstacles;
      const others = survey.obstacles.length === 1 ? '' : ` (and ${survey.obstacles.length - 1} more)`;
      throw new CapstanError('CAP_ADOPTION', `nothing was changed: ${first}${others}`);
    }
    await confirm('take over', connection, options, context);
    record = await beginAdoption(engine, survey);
  } else {
    if (options.dryRun) {
      context.stderr('a take-over is in progress; the command without --dry-run continues it, --release reverts it\n');
      return 1;
    }
    context.stderr('going on with a take-over that was interrupted\n');
  }
  await carryOutAdoption(engine, record);
  context.stdout(
    options.controllers
      ? 'taken over\n'
      : 'taken over; run `capstan controller --install`: until then no controller manages the clusters\n',
  );
  return 0;
}

async function release(
  engine: EngineOptions,
  connection: Connection,
  options: AdoptOptions,
  context: CommandContext,
): Promise<number> {
  const record = await readAdoption(engine.client, engine.signal);
  if (!record) {
    throw new CapstanError('CAP_ADOPTION', `nothing in ${connection.where} was taken over from upstream`, {
      hint: '`capstan uninstall` removes an installation',
    });
  }
  await confirm('give back', connection, options, context);
  await releaseAdoption(engine, engine.installation, record);
  context.stdout('given back\n');
  return 0;
}

function show(survey: Survey, { output = 'text' }: AdoptOptions, context: CommandContext): void {
  if (output === 'text') context.stdout(surveyText(survey));
  else context.stdout(output === 'json' ? formatJson(surveyValue(survey)) : formatYaml(surveyValue(survey)));
}

/** Asks the user at a terminal; scripts continue without a question. */
async function confirm(
  what: string,
  { where }: Connection,
  { yes = false }: AdoptOptions,
  context: CommandContext,
): Promise<void> {
  if (yes || !context.confirm) return;
  if (await context.confirm(`${what} all clusters of ${where}?`)) return;
  throw new CapstanError('CAP_NOT_CONFIRMED', 'nothing was changed', {
    hint: 'use --yes to continue without a question',
  });
}
