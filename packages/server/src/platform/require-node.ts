/** Exits with a clear message on an older Node, which would fail with a syntax error. Imported before all other modules. */
const requiredMajor = 24;

if (Number.parseInt(process.versions.node, 10) < requiredMajor) {
  process.stderr.write(
    `Lamina requires Node ${requiredMajor} or newer; this is ${process.version}. Start it with npm start, which installs its own Node.\n`,
  );
  process.exit(1);
}
