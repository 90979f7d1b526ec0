import type { ResultLayer } from '@lamina/contract';
import { fireEvent, render, screen } from '@testing-library/react';
import { it } from 'vitest';
import { App } from '../../App.tsx';
import { chooseLanguage } from '../../language/language.ts';
import { LayerItem } from './LayerItem.tsx';
import { settingsOf } from './layer-choices.ts';
import { heatmap } from './testing/heatmap.ts';

const layer = {
  id: heatmap.id,
  name: heatmap.name,
  state: 'ready',
  owner_name: null,
  source: 'upload',
  rights: { manage: false },
} as ResultLayer;
const settings = { ...settingsOf(heatmap, { layerKey: 'l', isVisible: true, style: {} }), opacity: 0.6 };

it.each([
  ['tr', '%60'],
  ['en', '60%'],
] as const)(
  'the slider for the opacity of a result layer, in the language "%s", shows an opacity of 0.6 as "%s"',
  (language, label) => {
    chooseLanguage(language);
    render(
      <App env="test">
        <LayerItem
          layer={layer}
          descriptor={heatmap}
          failure={null}
          settings={settings}
          counts={null}
          areas={{ listed: [], chosen: null, choose: () => {} }}
          position={0}
          layerCount={1}
          onChange={() => {}}
          onMove={() => {}}
          onRemove={() => {}}
        />
      </App>,
    );
    const name = language === 'tr' ? 'Opaklık' : 'Opacity';
    fireEvent.focus(screen.getByRole('slider', { name }));
    screen.getByText(label);
  },
);
