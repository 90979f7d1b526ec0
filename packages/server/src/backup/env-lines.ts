/** The file format of settings in a backup, from which `node --env-file` reads the same values. */

/** Returns one line per setting. For a value that no kind of quote can enclose, the line is a comment without the value. */
export function settingsLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => lineOf(name, value))
    .join('');
}

function lineOf(name: string, value: string): string {
  // Uses the first kind of quote that the value does not contain. `node --env-file` turns \n between double quotes into a line break.
  const quote = ["'", '`', '"'].find(
    (candidate) => !value.includes(candidate) && !(candidate === '"' && value.includes('\\n')),
  );
  if (quote === undefined)
    return `# ${name} contains all kinds of quotes and cannot be written here; store it separately.\n`;
  return `${name}=${quote}${value}${quote}\n`;
}
