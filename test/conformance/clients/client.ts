import type { CapstanProcess } from '../../support/capstan.ts';

/** Environment of a client test: a management API and a temporary directory. */
export interface Stage {
  readonly capstan: CapstanProcess;
  readonly directory: string;
  /** runs kubectl against the API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** Starts a second management API, for moves. It stops with the first. */
  another(): Promise<Pick<Stage, 'capstan' | 'kubectl'>>;
}

/** A use case of a client. It throws if the client fails. */
export interface Scenario {
  readonly name: string;
  run(): Promise<void>;
}

/** A third-party client of Kubernetes APIs. */
export interface Client {
  readonly name: string;
  /** components that `capstan up` runs besides the API */
  readonly needs: 'pods' | 'clusters';
  /** Finds or installs the program. Throws MissingPrerequisite if that is impossible. */
  prepare(say: (line: string) => void): Promise<(stage: Stage) => readonly Scenario[]>;
}

export interface ScenarioResult {
  readonly client: string;
  readonly scenario: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly message: string;
}

/** Runs scenarios in order. Each depends on the previous ones, so scenarios after a failure are skipped. */
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

/** Formats a table: one line per scenario, totals, then failures and skips with their reasons. */
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
