import { MantineProvider } from '@mantine/core';
import { render, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { UsagePlot } from './UsagePlot.tsx';

const days = [
  { day: '2026-11-19', count: 0 },
  { day: '2026-11-20', count: 1200 },
  { day: '2026-11-21', count: 300 },
];

const renderPlot = (plotDays: readonly { day: string; count: number }[]) =>
  render(
    <MantineProvider env="test">
      <UsagePlot title="Giriş" color="eosin" days={plotDays} />
    </MantineProvider>,
  );

const barHeights = () =>
  [...screen.getByRole('img').querySelectorAll('rect')].map((bar) => Number(bar.getAttribute('height')));

describe('the usage plot of the admin dashboard', () => {
  it('has a bar for each day, in proportion to the day with the most events', () => {
    renderPlot(days);
    const [firstDay, secondDay, thirdDay] = barHeights() as [number, number, number];
    expect(firstDay).toBe(0);
    expect(thirdDay / secondDay).toBeCloseTo(0.25);
  });

  it('shows a visible bar for a day with one event when another day has 100,000 events', () => {
    renderPlot([
      { day: '2026-11-20', count: 1 },
      { day: '2026-11-21', count: 100_000 },
    ]);
    expect(barHeights()[0]).toBeGreaterThan(0);
  });

  it('describes the total and the maximum in words for screen readers', () => {
    renderPlot(days);
    const plot = screen.getByRole('img', { name: 'Son 30 gün: giriş, günlere göre' });
    const description = document.getElementById(plot.getAttribute('aria-describedby') ?? '');
    expect(description?.textContent).toBe('Toplam 1.500. En çok 1.200, 20 Kasım 2026 günü.');
  });

  it('says in the description for screen readers that there are no events when no day has one', () => {
    renderPlot([{ day: '2026-11-21', count: 0 }]);
    const plot = screen.getByRole('img');
    const description = document.getElementById(plot.getAttribute('aria-describedby') ?? '');
    expect(description?.textContent).toBe('Son 30 günde hiç yok.');
  });

  it('shows its numbers also in a table, with the latest day first', () => {
    renderPlot(days);
    const rows = within(screen.getByRole('table')).getAllByRole('row');
    expect(rows.map(({ textContent }) => textContent)).toEqual([
      'GünGiriş',
      '21 Kasım 2026300',
      '20 Kasım 20261.200',
      '19 Kasım 20260',
    ]);
  });
});
