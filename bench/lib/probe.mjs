// Loaded into a server under test with `node --import`: tells the benchmark how the process is doing, over the IPC channel.
// Plain JavaScript, because it must load without a compiler.

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import v8 from 'node:v8';

const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
let cpu = process.cpuUsage();
let loop = performance.eventLoopUtilization();
let session;

/** The histogram holds the time between two ticks of a timer; what exceeds its period is the stall. */
const stallMs = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolutionMs);

function report() {
  const used = process.cpuUsage(cpu);
  return {
    stallMs: { p50: stallMs(delay.percentile(50)), p99: stallMs(delay.percentile(99)), max: stallMs(delay.max) },
    cpuSeconds: (used.user + used.system) / 1e6,
    loopUtilization: performance.eventLoopUtilization(performance.eventLoopUtilization(), loop).utilization,
    memory: process.memoryUsage(),
  };
}

function reset() {
  delay.reset();
  cpu = process.cpuUsage();
  loop = performance.eventLoopUtilization();
}

const post = (method, params) =>
  new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result))),
  );

async function startProfile() {
  session = new Session();
  session.connect();
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: 500 });
  await post('Profiler.start');
}

async function stopProfile(path) {
  const { profile } = await post('Profiler.stop');
  session.disconnect();
  writeFileSync(path, JSON.stringify(profile));
}

async function answer({ ask, path }) {
  switch (ask) {
    case 'reset':
      return reset();
    case 'report':
      return report();
    case 'collect':
      globalThis.gc?.();
      return report();
    case 'start profile':
      return startProfile();
    case 'stop profile':
      return stopProfile(path);
    case 'heap snapshot':
      return v8.writeHeapSnapshot(path);
    default:
      throw new Error(`unknown question ${ask}`);
  }
}

process.on('message', (message) => {
  answer(message).then(
    (value) => process.send({ id: message.id, value }),
    (error) => process.send({ id: message.id, error: String(error) }),
  );
});
// The benchmark must not keep a server alive that wants to end.
process.channel?.unref();
