// Compiles every module of record.json, runs its launches, compares its results, and posts what it finds.
//
// record.json is { modules: [{file, kernel, group}], steps: [..] }. A step is one of ["alloc", buffer, bytes] ["write",
// buffer, offset, [word..]] ["launch", module, [[buffer, offset, bytes]..], [info word..], [x, y, z]] ["case", group,
// name] ["expect", buffer, offset, [word..]] Offsets are in bytes, and words have 32 bits. Buffers live as long as the
// page: scratch memory goes from launch to launch.

const log = document.getElementById("log");
let lines = [];

async function post() {
  const body = lines.join("\n");
  lines = [];
  if (body) await fetch("/report", { method: "POST", body });
}

async function say(...fields) {
  const line = fields.map((field) => String(field).replace(/[\t\n\r]+/g, " ")).join("\t");
  lines.push(line);
  log.textContent += line + "\n";
  if (lines.length >= 25) await post();
}

async function openDevice() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("no WebGPU adapter");
  const { vendor, architecture, subgroupMinSize, subgroupMaxSize } = adapter.info;
  await say("adapter", `${vendor} ${architecture}, planes of ${subgroupMinSize} to ${subgroupMaxSize}`);
  // CubeCL asks for everything that the adapter has.
  const limits = {};
  for (const name in adapter.limits) {
    if (typeof adapter.limits[name] === "number") limits[name] = adapter.limits[name];
  }
  const requiredFeatures = [...adapter.features].filter((name) => !name.startsWith("chromium-"));
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits: limits });
  device.lost.then((info) => say(`device lost: ${info.message}`).then(post));
  return device;
}

// Makes the pipeline of a module with the layout that CubeCL gives it: every declared binding, as it is declared.
async function compile(device, { file, kernel }) {
  const code = await (await fetch("/" + file)).text();
  const module = device.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  const errors = messages.filter((message) => message.type === "error");
  if (errors.length) {
    const where = code.split("\n");
    const texts = errors.map((e) => `${e.lineNum}: ${e.message} [${(where[e.lineNum - 1] ?? "").trim()}]`);
    throw new Error(texts.join("; "));
  }
  const declared = [...code.matchAll(/@binding\((\d+)\) var<storage, (read|read_write)>/g)];
  const entries = declared.map(([, binding, access]) => ({
    binding: Number(binding),
    visibility: GPUShaderStage.COMPUTE,
    buffer: { type: access === "read" ? "read-only-storage" : "storage" },
  }));
  const layout = device.createBindGroupLayout({ entries });
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: kernel },
  });
  return { pipeline, layout };
}

async function tryToCompile(device, entry) {
  try {
    const compiled = await compile(device, entry);
    await say("module", entry.group, entry.file, "ok", "");
    return compiled;
  } catch (error) {
    await say("module", entry.group, entry.file, "rejected", error.message);
    return null;
  }
}

// A few at a time, because pipelines are built on other threads.
async function compileAll(device, modules) {
  const compiled = [];
  while (compiled.length < modules.length) {
    const next = modules.slice(compiled.length, compiled.length + 16);
    compiled.push(...(await Promise.all(next.map((entry) => tryToCompile(device, entry)))));
  }
  return compiled;
}

class Replay {
  constructor(device, compiled) {
    this.device = device;
    this.compiled = compiled;
    this.buffers = new Map();
    this.case = null;
  }

  alloc(buffer, bytes) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
    this.buffers.set(buffer, this.device.createBuffer({ size: Math.max(16, bytes), usage }));
  }

  write(buffer, offset, words) {
    this.device.queue.writeBuffer(this.buffers.get(buffer), offset, new Uint32Array(words));
  }

  launch(module, bindings, info, cubes) {
    const { pipeline, layout } = this.compiled[module] ?? {};
    if (!pipeline) {
      this.fault(`module ${module} was rejected`);
      return;
    }
    const resources = bindings.map(([buffer, offset, size]) => ({ buffer: this.buffers.get(buffer), offset, size }));
    if (info.length) {
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
      const buffer = this.device.createBuffer({ size: info.length * 4, usage });
      this.device.queue.writeBuffer(buffer, 0, new Uint32Array(info));
      resources.push({ buffer });
    }
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, this.device.createBindGroup({ layout, entries }));
    pass.dispatchWorkgroups(...cubes);
    pass.end();
    this.device.queue.submit([encoder.finish()]);
  }

  async expect(buffer, offset, words) {
    const size = words.length * 4;
    const staging = this.device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.buffers.get(buffer), offset, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const found = new Uint32Array(staging.getMappedRange());
    const wrong = words.findIndex((word, i) => word !== found[i]);
    if (wrong >= 0) {
      const count = words.filter((word, i) => word !== found[i]).length;
      const hex = (word) => "0x" + word.toString(16).padStart(8, "0");
      const first = `${hex(found[wrong])} instead of ${hex(words[wrong])}`;
      this.fault(`${count} of ${words.length} wrong, first ${wrong}: ${first}`);
    }
    this.case.compared += words.length;
    staging.destroy();
  }

  fault(message) {
    this.case?.faults.push(message);
  }

  async begin(group, name) {
    await this.end();
    this.device.pushErrorScope("validation");
    this.case = { group, name, faults: [], compared: 0 };
  }

  async end() {
    if (!this.case) return;
    const error = await this.device.popErrorScope();
    if (error) this.fault(error.message);
    if (!this.case.compared) this.fault("nothing was compared");
    const { group, name, faults } = this.case;
    this.case = null;
    await say("case", group, name, faults.length ? "wrong" : "ok", faults.join("; "));
  }
}

async function main() {
  const device = await openDevice();
  const { modules, steps } = await (await fetch("/record.json")).json();
  const replay = new Replay(device, await compileAll(device, modules));
  for (const [what, ...fields] of steps) {
    if (what === "case") await replay.begin(...fields);
    else await replay[what](...fields);
  }
  await replay.end();
}

try {
  await main();
} catch (error) {
  await say(`the page stopped: ${error.stack ?? error}`);
}
lines.push("done");
await post();
