// @ts-check
/**
 * A module that ends the process with an explanation when the running Node is older than 20. The entry points import it first.
 *
 * Node 20 is enough to install the packages; everything else runs on the Node 24 that npm installs.
 */
const major = Number.parseInt(process.versions.node, 10);
if (major < 20) {
  console.error(
    `Lamina needs Node 20 or newer to start; this is Node ${process.versions.node}. ` +
      'Install a current Node from https://nodejs.org and run the command again.',
  );
  process.exit(1);
}
