import { MantineProvider } from '@mantine/core';
import { render, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { UsagePlot } from './UsagePlot.tsx';

const days = [
  { day: '2026-11-19', count: 0 },
  { day: '2026-11-20', count: 1200 },
  { day: '2026-11-21', count: 300 },
];

const shown = (given: readonly { day: string; count: number }[]) =>
  render(
    <MantineProvider env="test">
      <UsagePlot title="Giriş" color="eosin" days={given} />
    </MantineProvider>,
  );

const heights = () =>
  [...screen.getByRole('img').querySelectorAll('rect')].map((bar) => Number(bar.getAttribute('height')));

describe('a plot of days', () => {
  it('has a bar for each day, in proportion to the busiest day', () => {
    shown(days);
    const [none, most, some] = heights() as [number, number, number];
    expect(none).toBe(0);
    expect(some / most).toBeCloseTo(0.25);
  });

  it('shows a bar for a day with few events, and none for a day without events', () => {
    shown([
      { day: '2026-11-20', count: 1 },
      { day: '2026-11-21', count: 100_000 },
    ]);
    expect(heights()[0]).toBeGreaterThan(0);
  });

  it('describes the numbers in words for screen readers', () => {
    shown(days);
    const plot = screen.getByRole('img', { name: 'Son 30 gün: giriş, günlere göre' });
    const description = document.getElementById(plot.getAttribute('aria-describedby') ?? '');
    expect(description?.textContent).toBe('Toplam 1.500. En çok 1.200, 20 Kasım 2026 günü.');
  });

  it('says that there were no events', () => {
    shown([{ day: '2026-11-21', count: 0 }]);
    const plot = screen.getByRole('img');
    const description = document.getElementById(plot.getAttribute('aria-describedby') ?? '');
    expect(description?.textContent).toBe('Bu günlerde hiç yok.');
  });

  it('shows the same numbers in a table, the last day first', () => {
    shown(days);
    const rows = within(screen.getByRole('table')).getAllByRole('row');
    expect(rows.map(({ textContent }) => textContent)).toEqual([
      'GünGiriş',
      '21 Kasım 2026300',
      '20 Kasım 20261.200',
      '19 Kasım 20260',
    ]);
  });
});
