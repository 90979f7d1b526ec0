/**
 * Imported before anything else by every script: an old Node gets a sentence instead of a stack.
 * What runs the scripts themselves may be Node 20; the product runs on the Node 24 that npm installs.
 */
const major = Number.parseInt(process.versions.node, 10);
if (major < 20) {
  console.error(
    `Lamina is started with Node 20 or newer; this is Node ${process.versions.node}. ` +
      'Install a current Node from https://nodejs.org and run the command again.',
  );
  process.exit(1);
}
