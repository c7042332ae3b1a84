// Runs eqbench in a thread of its own, so that the page stays usable and can end it.
const tell = (state) => postMessage({ state });

async function fetched(name, kind) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response[kind]();
}

async function load() {
  const settings = await fetched("playground.json", "json");
  const indexURL = new URL(settings.pyodide, self.location).href;
  tell("loading Python …");
  const { loadPyodide } = await import(`${indexURL}pyodide.mjs`);
  const python = await loadPyodide({ indexURL });
  tell(`loading ${settings.packages.join(", ")} …`);
  const loaded = await python.loadPackage(settings.packages, { messageCallback: () => {} });
  const names = new Set(loaded.map(({ name }) => name));
  const missing = settings.packages.filter((name) => !names.has(name));
  if (missing.length) throw new Error(`not found in ${indexURL}: ${missing.join(", ")}`);
  tell("loading eqbench …");
  for (const wheel of settings.wheels) {
    python.unpackArchive(await fetched(wheel, "arrayBuffer"), "wheel");
  }
  python.FS.writeFile("answers.py", await fetched("answers.py", "text"));
  return python.pyimport("answers");
}

const loading = load();
onmessage = async ({ data: { id, name, request } }) => {
  try {
    const answers = await loading;
    postMessage({ id, answer: JSON.parse(answers.call(name, JSON.stringify(request))) });
  } catch (error) {
    postMessage({ id, answer: { error: `eqbench could not be started. ${error.message ?? error}` } });
  }
};
