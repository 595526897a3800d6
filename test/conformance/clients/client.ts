import type { CapstanProcess } from '../../support/capstan.ts';

/** Where a client is tried: a management API of its own, and a directory that is thrown away. */
export interface Stage {
  readonly capstan: CapstanProcess;
  readonly directory: string;
  /** kubectl on the API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** A second management API, for what is moved; ended with the first. */
  another(): Promise<Pick<Stage, 'capstan' | 'kubectl'>>;
}

/** One thing people do with a client; it throws when the client does not get what it expects. */
export interface Scenario {
  readonly name: string;
  run(): Promise<void>;
}

/** A program that others wrote and that people use with a Kubernetes API. */
export interface Client {
  readonly name: string;
  /** what `capstan up` is to run beside the API */
  readonly needs: 'pods' | 'clusters';
  /** Finds or makes the program; throws MissingPrerequisite when it cannot be had. */
  prepare(say: (line: string) => void): Promise<(stage: Stage) => readonly Scenario[]>;
}

export interface ScenarioResult {
  readonly client: string;
  readonly scenario: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly message: string;
}

/** Runs scenarios in their order: each builds upon those before it, so what follows a failure is not tried. */
export async function runScenarios(client: string, scenarios: readonly Scenario[]): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  let failed: string | undefined;
  for (const { name, run } of scenarios) {
    if (failed !== undefined) {
      results.push({ client, scenario: name, state: 'skipped', message: `"${failed}" failed before` });
      continue;
    }
    try {
      await run();
      results.push({ client, scenario: name, state: 'passed', message: '' });
    } catch (error) {
      failed = name;
      results.push({
        client,
        scenario: name,
        state: 'failed',
        message: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return results;
}

const marks: Readonly<Record<ScenarioResult['state'], string>> = { passed: 'ok', failed: 'FAILED', skipped: '-' };

/** A table for people: one line for each scenario, totals below, then what failed and what was skipped, and why. */
export function formatScenarios(results: readonly ScenarioResult[]): string {
  const count = (state: ScenarioResult['state']): number => results.filter((result) => result.state === state).length;
  const lines = results.map(
    ({ client, scenario, state }) => `${marks[state].padEnd(6)}  ${client.padEnd(17)}  ${scenario}`,
  );
  const reasons = results
    .filter(({ state }) => state !== 'passed')
    .flatMap(({ client, scenario, message }) => [
      '',
      `${client}: ${scenario}`,
      ...message.split('\n').map((line) => `  ${line}`),
    ]);
  const total = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
  return `${[...lines, '', total, ...reasons].join('\n')}\n`;
}
