/** Imported before anything else: an older Node would end in a message that nobody understands. */
const required = 24;

if (Number.parseInt(process.versions.node, 10) < required) {
  process.stderr.write(
    `Lamina needs Node ${required} or newer; this is ${process.version}. Start it with npm start, which brings its own.\n`,
  );
  process.exit(1);
}
