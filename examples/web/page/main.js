// The page. A worker has WebAssembly and the GPU; here are pictures, and promises of what the worker answers.
//
// With ?test it checks, draws and measures a little by itself, and posts what it found to /report.

const at = (id) => document.getElementById(id);
const isTest = new URLSearchParams(location.search).has("test");
const turns = () => new Promise((done) => requestAnimationFrame(done));

// A worker, and promises of what it answers. It is abandoned after an error: a panic, a lost GPU.
class Gpu {
  constructor() {
    this.waiting = new Map();
    this.worker = new Worker("worker.js", { type: "module" });
    this.worker.onmessage = ({ data: { id, value, error } }) => {
      if (error !== undefined) return this.fail(error);
      this.waiting.get(id)?.ok(value);
      this.waiting.delete(id);
    };
    this.worker.onerror = ({ message }) => this.fail(message ?? "the worker did not start");
  }

  call(name, ...args) {
    const id = (this.last = (this.last ?? 0) + 1);
    const answer = new Promise((ok, failed) => this.waiting.set(id, { ok, failed }));
    this.worker.postMessage({ id, name, args });
    return answer;
  }

  fail(message) {
    this.worker.terminate();
    if (gpu === this) gpu = undefined;
    for (const { failed } of this.waiting.values()) failed(new Error(message));
  }
}

let gpu;
let names;

async function open() {
  gpu = new Gpu();
  names = await gpu.call("open");
}

// Calls the worker, or a new one if the last was abandoned.
async function call(name, ...args) {
  if (!gpu) await open();
  return gpu.call(name, ...args);
}

function browser() {
  const brands = navigator.userAgentData?.brands ?? [];
  const brand = brands.find(({ brand }) => !/Not|Chromium/.test(brand)) ?? brands.find(({ brand }) => /Chromium/.test(brand));
  return brand ? `${brand.brand} ${brand.version}` : navigator.userAgent;
}

// What the browser says about the GPU, or why there is none.
async function adapter() {
  if (!navigator.gpu) {
    throw new Error(isSecureContext
      ? "This browser has no WebGPU. Chrome and Edge have it from version 113 on, Firefox from 141, Safari from 26."
      : "Browsers offer WebGPU to pages by https or from this machine only.");
  }
  const found = await navigator.gpu.requestAdapter();
  if (!found) throw new Error("This browser has WebGPU, but no GPU for it: chrome://gpu tells why.");
  const { vendor, architecture, device, description } = found.info;
  const name = description || [vendor, architecture, device].filter(Boolean).join(" ") || "a GPU without a name";
  return { name, isSoftware: /swiftshader|llvmpipe/i.test(`${architecture} ${description}`) || found.info.isFallbackAdapter };
}

function say(id, text, kind = "") {
  at(id).textContent = text;
  at(id).className = kind;
}

// Self-check.

async function check() {
  const list = at("checks");
  const items = names.map((name) => list.appendChild(Object.assign(document.createElement("li"), { textContent: name })));
  const wrong = [];
  for (const [number, item] of items.entries()) {
    try {
      await call("check", number);
      item.className = "right";
    } catch (error) {
      item.className = "wrong";
      item.textContent += `: ${error.message}`;
      wrong.push(item.textContent);
    }
    say("verdict", `${number + 1} of ${items.length}`);
  }
  if (wrong.length) say("verdict", `✗ ${wrong.length} of ${items.length} wrong`, "wrong");
  else say("verdict", `✓ all ${items.length} right`, "right");
  return wrong;
}

// Particles.

const picture = at("picture").getContext("2d", { alpha: false });
const { width, height } = picture.canvas;
const image = picture.createImageData(width, height);
const pixels = new Uint32Array(image.data.buffer);

// Sixteen colours in 64 shades each.
const shades = Uint32Array.from({ length: 1024 }, (_, shade) => {
  const light = 0.25 + 0.75 * ((shade % 64) / 63);
  const turn = (Math.floor(shade / 64) / 16) * 2 * Math.PI;
  const part = (by) => Math.round(255 * light * (0.6 + 0.4 * Math.cos(turn - by)));
  return (255 << 24) | (part(4.2) << 16) | (part(2.1) << 8) | part(0);
});

function draw(particles) {
  pixels.fill(0xff0b0806);
  for (const particle of particles) {
    if (particle < 0) continue;
    const shade = shades[particle >> 20];
    const place = ((particle >> 10) & 1023) * width + (particle & 1023);
    pixels[place] = pixels[place + 1] = pixels[place + width] = pixels[place + width + 1] = shade;
  }
  picture.putImageData(image, 0, 0);
}

const chosen = () => Math.round(2 ** at("number").value / 1000) * 1000;
let isBusy = false;
let work = 0;

// Draws until something else needs the device, at most `most` frames. Returns the time of a frame.
async function animate(most = Infinity) {
  let n;
  let last = performance.now();
  let mean;
  for (let frame = 0; frame < most && !isBusy; frame++) {
    try {
      if (n !== chosen()) {
        n = chosen();
        say("particles", `${n.toLocaleString("en")} particles`);
        await call("particles", n);
      }
      const now = performance.now();
      const seconds = Math.min((now - last) / 1000, 0.05);
      // The first frames compile kernels.
      if (frame > 3) mean = mean === undefined ? now - last : 0.9 * mean + 0.1 * (now - last);
      last = now;
      const particles = await call("step", seconds, now / 4000, width, height);
      await turns();
      const start = performance.now();
      draw(particles);
      work = Math.max(work, performance.now() - start);
      if (mean) say("rate", `${mean.toFixed(1)} ms a frame, ${(1000 / mean).toFixed(0)} a second`);
    } catch (error) {
      say("rate", `${error.message} Starting anew.`, "wrong");
      n = undefined;
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
  return mean;
}

// Speed.

// Bytes that must be read and written for one element of 4 bytes. Half of the elements survive a compaction, whose mask
// has 4 bytes per element.
const series = [
  { name: "copy", label: "copy", bytes: 8, colour: "#8995a3" },
  { name: "cumsum", label: "cumulative sum", bytes: 8, colour: "#57a6ff" },
  { name: "compaction", label: "compaction", bytes: 12, colour: "#4fc27a" },
  { name: "sort", label: "sort", bytes: 8, colour: "#f0b35a" },
  { name: "burn", label: "Burn's own cumsum", bytes: 8, colour: "#f2626a" },
];

async function measure(sizes, least) {
  for (const line of series) line.points = [];
  const total = sizes.length * series.length;
  let done = 0;
  for (const n of sizes) {
    for (const line of series) {
      at("progress").value = done++ / total;
      if (line.isOver) continue;
      say("now", `${line.label}, ${n.toLocaleString("en")} elements`);
      try {
        const ms = await call("measure", line.name, n, least);
        line.points.push({ n, rate: (line.bytes * n) / ms / 1e6, ms });
        line.isOver = line.name === "burn" && ms > 60;
      } catch (error) {
        say("now", error.message, "wrong");
        line.isOver = true;
      }
      chart(sizes);
    }
  }
  at("progress").value = 1;
  say("now", "done");
}

function chart(sizes) {
  const canvas = at("chart");
  const pen = canvas.getContext("2d");
  const [left, right, top, bottom] = [60, 170, 16, 34];
  const rates = series.flatMap(({ points }) => points.map(({ rate }) => Math.log10(rate)));
  const [low, high] = [Math.floor(Math.min(...rates)), Math.ceil(Math.max(...rates))];
  const [first, last] = [Math.log2(sizes[0]), Math.log2(sizes.at(-1))];
  const x = (n) => left + ((Math.log2(n) - first) / (last - first)) * (canvas.width - left - right);
  const y = (log) => top + ((high - log) / Math.max(high - low, 1)) * (canvas.height - top - bottom);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.font = "14px system-ui, sans-serif";
  pen.fillStyle = pen.strokeStyle = "#8995a3";
  for (let log = low; log <= high; log++) {
    pen.fillText(`${10 ** log}`, 8, y(log) + 5);
    pen.globalAlpha = 0.3;
    pen.strokeRect(left, y(log), canvas.width - left - right, 0);
    pen.globalAlpha = 1;
  }
  for (const n of sizes) pen.fillText(`2^${Math.log2(n)}`, x(n) - 12, canvas.height - 10);
  series.forEach(({ label, colour, points }, number) => {
    pen.fillStyle = pen.strokeStyle = colour;
    pen.fillText(label, canvas.width - right + 14, top + 14 + 22 * number);
    pen.lineWidth = 2;
    pen.beginPath();
    points.forEach(({ n, rate }) => pen.lineTo(x(n), y(Math.log10(rate))));
    pen.stroke();
    points.forEach(({ n, rate }) => pen.fillRect(x(n) - 3, y(Math.log10(rate)) - 3, 6, 6));
  });
  const cells = (line) => sizes.map((n) => line.points.find((point) => point.n === n)?.rate.toPrecision(3) ?? "");
  const row = (tag, words) => `<tr>${words.map((word) => `<${tag}>${word}</${tag}>`).join("")}</tr>`;
  const head = row("th", ["GB/s", ...sizes.map((n) => `2<sup>${Math.log2(n)}</sup>`)]);
  at("table").innerHTML = head + series.map((line) => row("td", [line.label, ...cells(line)])).join("");
}

const powers = (from, to) => Array.from({ length: (to - from) / 2 + 1 }, (_, i) => 2 ** (from + 2 * i));

async function measureAll() {
  isBusy = at("measure").disabled = true;
  for (const line of series) line.isOver = false;
  await measure(powers(10, 24), 100);
  isBusy = at("measure").disabled = false;
  animate();
}

async function start() {
  let found;
  try {
    found = await adapter();
    say("found", `${found.name} in ${browser()}`);
    await open();
  } catch (error) {
    say("found", error.message, "wrong");
    if (isTest) await report({ failed: error.message });
    return;
  }
  at("number").value = found.isSoftware ? Math.log2(20_000) : Math.log2(200_000);
  at("measure").onclick = measureAll;
  if (isTest) return test(found);
  await check();
  at("measure").disabled = false;
  animate();
}

const report = (found) => fetch("/report", { method: "POST", body: JSON.stringify(found) });

// A panic, and a lost GPU: what the page says. It goes on after each.
async function faults() {
  const said = [];
  for (const fault of [["check", names.length], ["lose"]]) {
    said.push(await call(...fault).then(() => "nothing", ({ message }) => message));
    await call("check", 0);
  }
  return said;
}

async function test(found) {
  const wrong = await check();
  const said = await faults();
  const frame = await animate(30);
  await measure(powers(10, 16), 20);
  at("measure").disabled = false;
  await turns();
  await report({ gpu: found.name, browser: browser(), checks: names.length, wrong, said, particles: chosen(), frame, work, series });
}

// The page is not loaded, and no picture of it taken, before the report has arrived.
if (isTest) document.body.append(Object.assign(new Image(), { src: "held", hidden: true }));
start();
