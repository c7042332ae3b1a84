// Stands in for Pyodide: Python runs behind the server of the test, see `browser/test_playground.py`.
function post(path, body) {
  const request = new XMLHttpRequest();
  request.open("POST", path, false);
  request.send(body);
  if (request.status !== 200) throw new Error(request.responseText);
  return request.responseText;
}

export const loadPyodide = async () => ({
  loadPackage: async (names) => names.filter((name) => name !== "absent").map((name) => ({ name })),
  unpackArchive: (buffer) => post("/unpack", buffer),
  FS: { writeFile: (name, text) => post("/write", text) },
  pyimport: () => ({ call: (name, request) => post("/call", JSON.stringify([name, request])) }),
});
