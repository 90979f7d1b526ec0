/** Settings as a file that `node --env-file` reads back to the same values. */

/** A value with all three kinds of quotes in it cannot be written: its line only says so. */
export function settingsLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => lineOf(name, value))
    .join('');
}

function lineOf(name: string, value: string): string {
  // Between double quotes, \n would become a line break.
  const quote = ["'", '`', '"'].find(
    (each) => !value.includes(each) && !(each === '"' && value.includes('\\n')),
  );
  if (quote === undefined) return `# ${name} has all kinds of quotes in it and has to be kept elsewhere.\n`;
  return `${name}=${quote}${value}${quote}\n`;
}
