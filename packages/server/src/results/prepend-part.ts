/** Yields a part that the caller has already read, and then the remaining parts. */
export async function* prependPart(
  first: IteratorResult<Buffer>,
  others: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    for (let next = first; !next.done; next = await others.next()) yield next.value;
  } finally {
    await others.return(undefined);
  }
}
