import { describe, expect, it } from 'vitest';
import type { ResultObject } from './read-objects.ts';
import { readPoints } from './read-points.ts';

/** Returns the points of a table, which arrives in parts of 5 bytes. */
async function pointsOf(table: string): Promise<ResultObject[]> {
  const bytes = Buffer.from(table);
  async function* parts() {
    for (let at = 0; at < bytes.length; at += 5) yield bytes.subarray(at, at + 5);
  }
  const points: ResultObject[] = [];
  await readPoints(parts(), null, (point) => points.push(point));
  return points;
}

describe('readPoints (reads points from a text table)', () => {
  it.each([
    ['commas', 'x,y,class,area\n1200.5,3400.25,Tumor,7.5\n'],
    ['semicolons', 'x;y;class;area\n1200.5;3400.25;Tumor;7.5\n'],
    ['semicolons, with decimal commas', 'x;y;class;area\r\n1200,5;3400,25;Tumor;7,5\r\n'],
    ['tabs, with decimal commas', 'x\ty\tclass\tarea\n1200,5\t3400,25\tTumor\t7,5'],
  ])('reads coordinates, class and measurement of a table delimited by %s', async (_, table) => {
    expect(await pointsOf(table)).toMatchObject([
      { x: 1200.5, y: 3400.25, className: 'Tumor', measurements: [['area', 7.5]] },
    ]);
  });

  it('reads the coordinates of a row delimited by tabs although one of its cells contains a comma', async () => {
    expect(await pointsOf('Name\tx\ty\nROI, left\t1\t2\n')).toMatchObject([{ x: 1, y: 2 }]);
  });

  it('returns no point for empty lines at the end of a table', async () => {
    expect(await pointsOf('x,y\n1,2\n\n\r\n')).toMatchObject([{ x: 1, y: 2 }]);
  });

  it.each([
    ['another delimiter than the header row', 'x,y\n1;2\n'],
    ['numbers with decimal commas in a table delimited by commas', 'x,y,class\n120,5,340,25,Tumor\n'],
    ['one cell less than the header', 'x,y,class\n1,2\n'],
  ])('rejects as damaged a table with a row that has %s', async (_, table) => {
    await expect(pointsOf(table)).rejects.toMatchObject({ problem: 'damaged' });
  });
});
