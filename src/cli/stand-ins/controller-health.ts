import type { CheckResult, Manager } from '../../runtime/index.ts';
import type { StandInArea } from './built-in-managers.ts';

/** Health of the controllers by area, for placeholders. */
export interface ControllerHealth {
  /** sets the manager when it has started */
  attach(manager: Pick<Manager, 'ready' | 'healthy'>): void;
  of(area: StandInArea): CheckResult;
}

export function createControllerHealth(areas: ReadonlySet<StandInArea>): ControllerHealth {
  let running: Pick<Manager, 'ready' | 'healthy'> | undefined;
  const failing = (problem: string): CheckResult => ({ ok: false, problems: [problem] });
  return {
    attach(manager) {
      running = manager;
    },
    of(area) {
      if (!areas.has(area)) return failing(`the controllers of area ${area} do not run here (--controllers)`);
      if (!running) return failing('the controllers are about to start');
      const ready = running.ready();
      return ready.ok ? running.healthy() : ready;
    },
  };
}
