// Owns WebAssembly and the GPU, so that the page never waits for them. Answers one call at a time: { id, name, args } with
// { id, value } or { error }, and says { error } when the GPU is lost.

import init, * as scan from "./pkg/burn_scan_web.js";

let particles;
let device;

// The device that WebAssembly opens. A lost one may leave a call without an answer.
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...args) {
  device = await requestDevice.apply(this, args);
  device.lost.then(({ message }) => postMessage({ error: `The browser lost the GPU: ${message}` }));
  return device;
};

const calls = {
  async open() {
    await init();
    await scan.open();
    return scan.self_checks();
  },
  check: (number) => scan.self_check(number),
  // For the page's test.
  lose() {
    device.destroy();
    return new Promise(() => {});
  },
  particles(n) {
    particles?.free();
    particles = new scan.Particles(n);
  },
  step: (...args) => particles.step(...args),
  // Milliseconds of one round, of as many as take `least` milliseconds.
  async measure(operation, n, least) {
    const bench = new scan.Bench(operation, n);
    await bench.run(1);
    for (let rounds = 1; ; rounds *= 2) {
      const start = performance.now();
      await bench.run(rounds);
      const took = performance.now() - start;
      if (took >= least || rounds >= 256) {
        bench.free();
        return took / rounds;
      }
    }
  },
};

async function answer({ data: { id, name, args } }) {
  try {
    const value = await calls[name](...args);
    postMessage({ id, value }, value instanceof Int32Array ? [value.buffer] : []);
  } catch (error) {
    fail(error);
  }
}

function fail(error) {
  // A panic is a trap, and says why first.
  const panic = error instanceof WebAssembly.RuntimeError ? scan.last_panic() : "";
  postMessage({ error: panic || String(error?.message ?? error) });
}

// A future that waits for the GPU goes on in a task of its own, and its trap reaches no call.
onerror = (message, file, line, column, error) => {
  fail(error ?? message);
  return true;
};

// Calls wait for each other.
let before = Promise.resolve();
onmessage = (message) => {
  before = before.then(() => answer(message));
};
